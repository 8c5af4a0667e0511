/** What has to say the same version before a release. */
export interface ReleaseState {
  readonly version: string
  readonly lockfileVersions: readonly string[]
  readonly sourceVersion: string
  readonly changelog: string
  /** The tag that is to be published; undefined while nothing is. */
  readonly tag: string | undefined
}

/** What does not agree, in words; empty if everything does. Pure. */
export function findReleaseProblems(state: ReleaseState): readonly string[] {
  const { version, lockfileVersions, sourceVersion, changelog, tag } = state
  const problems: string[] = []
  const heading = /^## (\S+)(?: \(([^)]*)\))?$/m.exec(changelog)
  const [, newest, when] = heading ?? []
  if (!/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version)) {
    problems.push(`package.json: "${version}" is no version.`)
  }
  if (lockfileVersions.some((locked) => locked !== version)) {
    problems.push(
      `package-lock.json says ${lockfileVersions.join(' and ')}, package.json ${version}. Run \`npm install\`.`,
    )
  }
  if (sourceVersion !== version) {
    problems.push(`src/core/package-version.ts says ${sourceVersion}, package.json ${version}.`)
  }
  if (newest !== version) {
    problems.push(
      `CHANGELOG.md begins with ${newest ?? 'no version'}, package.json says ${version}.`,
    )
  } else if (when !== 'unreleased' && !isDate(when)) {
    problems.push(
      `CHANGELOG.md: ${version} is followed by its date, as in (2026-01-31), or by (unreleased).`,
    )
  }
  if (tag !== undefined && tag !== `v${version}`) {
    problems.push(`The tag is ${tag}, and package.json says ${version}: it has to be v${version}.`)
  }
  if (tag !== undefined && newest === version && when === 'unreleased') {
    problems.push(`CHANGELOG.md still calls ${version} unreleased. Write its date.`)
  }
  return problems
}

const isDate = (text: string | undefined): boolean =>
  text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
