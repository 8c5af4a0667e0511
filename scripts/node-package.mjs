// Node comes from npm as one package per platform; darwin-arm64 has a name of its own kind. Plain
// JavaScript, because the launcher of a clone reads it with whatever Node there is.

/**
 * @param {string} platform as `process.platform` says it
 * @param {string} arch as `process.arch` says it
 * @returns {{ name: string, program: string }} the package, and where in it the program is
 */
export function nodePackage(platform, arch) {
  if (platform === 'win32') return { name: `node-win-${arch}`, program: 'bin/node.exe' }
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'
  return { name: `${prefix}-${platform}-${arch}`, program: 'bin/node' }
}
