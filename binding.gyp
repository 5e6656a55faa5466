# For tools that look for a binding.gyp: it hands over to the CMake build.
{
  "targets": [
    {
      "target_name": "libtorch_serve",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake_js_build",
          "inputs": ["CMakeLists.txt"],
          "outputs": ["build/native/Release/libtorch_serve.node"],
          "action": ["node", "scripts/build-native.mjs"]
        }
      ]
    }
  ]
}
