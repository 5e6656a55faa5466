"""Make wheels that hold next to nothing, under the names and tags of those that LibTorch comes in.

Usage: python3 wheels.py FOLDER PLATFORM_TAG LIBTORCH_VERSION NAME==VERSION... -- LIBRARY...

The first wheel gets the version header and the libraries; each gets a licence. Prints a line for each:
NAME==VERSION --hash=sha256:… FILE.
"""

import hashlib
import os
import sys
import zipfile

folder, tag, libtorch, *rest = sys.argv[1:]
pins, libraries = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
parts = zip(("MAJOR", "MINOR", "PATCH"), libtorch.split("."))
header = "".join(f"#define TORCH_VERSION_{part} {value}\n" for part, value in parts)

for pin in pins:
    name, version = pin.split("==")
    stem = f"{name.replace('-', '_')}-{version}"
    files = {
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-{tag}\n",
        f"{stem}.dist-info/RECORD": "",
        f"{stem}.dist-info/licenses/third_party/LICENSE": f"The licence of {name}.\n",
    }
    if pin == pins[0]:
        files["torch/include/torch/headeronly/version.h"] = header
        files.update({f"torch/lib/{library}": f"not {library}\n" for library in libraries})
    path = os.path.join(folder, f"{stem}-cp312-cp312-{tag}.whl")
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in files.items():
            wheel.writestr(zipfile.ZipInfo(file, (2020, 1, 1, 0, 0, 0)), text)
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    print(f"{pin} --hash=sha256:{digest} {path}")
