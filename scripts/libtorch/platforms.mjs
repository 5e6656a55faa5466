/**
 * What LibTorch is on each platform: the pinned wheels (a pip requirements file with hashes beside
 * this one), the platform tags pip resolves them for, and the libraries that are kept of them.
 * The CUDA libraries are here because libtorch_cpu.so of the PyPI build names them as needed; they
 * are loaded and never used.
 */
export const LIBTORCH_VERSION = '2.15.0';

export const PLATFORMS = {
  'linux-x64': {
    pipPlatforms: ['manylinux_2_28_x86_64', 'manylinux_2_25_x86_64', 'manylinux2014_x86_64'],
    libraries: [
      'libtorch_cpu.so',
      'libc10.so',
      'libgomp.so.1',
      'libcudart.so.13',
      'libcupti.so.13',
    ],
  },
  'linux-arm64': {
    pipPlatforms: ['manylinux_2_28_aarch64', 'manylinux_2_25_aarch64', 'manylinux2014_aarch64'],
    libraries: [
      'libtorch_cpu.so',
      'libc10.so',
      'libgomp.so.1',
      'libgfortran.so.5',
      'libarm_compute.so',
      'libarm_compute_graph.so',
      'libnvpl_blas_core.so.0',
      'libnvpl_blas_lp64_gomp.so.0',
      'libnvpl_lapack_core.so.0',
      'libnvpl_lapack_lp64_gomp.so.0',
      'libcudart.so.13',
      'libcupti.so.13',
    ],
  },
  'darwin-arm64': {
    pipPlatforms: ['macosx_14_0_arm64'],
    libraries: ['libtorch_cpu.dylib', 'libc10.dylib', 'libomp.dylib'],
  },
};

/** The entry for the machine this runs on; throws with the list of those there are. */
export function currentPlatform() {
  const name = `${process.platform}-${process.arch}`;
  const platform = PLATFORMS[name];
  if (!platform) {
    throw new Error(
      `no LibTorch is known for ${name} (known: ${Object.keys(PLATFORMS).join(', ')}); ` +
        'set LIBTORCH to a folder with its include/ and lib/',
    );
  }
  return { name, ...platform };
}
