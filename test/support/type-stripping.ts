const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

/** What this Node must be told to run a TypeScript file without a word about it; the newest nothing. */
export const typeStripping: readonly string[] = [
  ...(major > 22 || minor >= 18 ? [] : ['--experimental-strip-types']),
  ...(major > 24 ? [] : ['--disable-warning=ExperimentalWarning']),
]
