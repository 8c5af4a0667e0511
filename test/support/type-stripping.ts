const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

/** What this Node must be told to run a TypeScript file; since 22.18 nothing. */
export const typeStripping: readonly string[] =
  major > 22 || minor >= 18
    ? []
    : ['--experimental-strip-types', '--disable-warning=ExperimentalWarning']
