/** The list of known faults that the project keeps (security/advisories.json). */
export interface AdvisoryList {
  /** When it was last compared with what is known elsewhere: `2026-01-31`. */
  readonly date: string
  readonly advisories: readonly Advisory[]
  readonly accepted: readonly Accepted[]
}
export interface Advisory {
  readonly id: string
  readonly package: string
  /** `<1.2.3 || >=2.0.0 <2.0.4`: any of the parts that `||` separates, all of the comparisons in it. */
  readonly vulnerable: string
  readonly title: string
}
/** A fault that is known and does no harm here. For exactly this version, and never for what users install. */
export interface Accepted {
  readonly id: string
  readonly package: string
  readonly version: string
  readonly because: string
}

export interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}
export interface LockedPackage {
  readonly name?: string
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * What a lockfile names and does not have, in words. One that was made where the packages of other platforms could
 * not be had leaves them out, and then `npm ci` refuses it on every machine.
 */
export function findMissingPackages({ packages }: Lockfile): readonly string[] {
  return Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isLocked(packages, path, name))
      .map((name) => `${path === '' ? 'The project' : path} needs ${name}, which is not there.`),
  )
}

/** In the nearest folder of packages above it, as Node looks for it. */
function isLocked(packages: Lockfile['packages'], path: string, name: string): boolean {
  for (
    let above = path;
    ;
    above = above.slice(0, Math.max(0, above.lastIndexOf('node_modules/')))
  ) {
    const folder = above === '' || above.endsWith('/') ? above : `${above}/`
    if (`${folder}node_modules/${name}` in packages) return true
    if (above === '') return false
  }
}

/** What is wrong with a lockfile, in words; empty if nothing is. Pure: the network is not asked. */
export function findLockfileProblems(
  { packages }: Lockfile,
  { advisories, accepted }: AdvisoryList,
): readonly string[] {
  const problems: string[] = []
  const used = new Set<Accepted>()
  for (const [path, locked] of Object.entries(packages)) {
    const at = path.lastIndexOf('node_modules/')
    // The project itself and its workspaces, which nobody downloads.
    if (at === -1 || locked.link === true) continue
    const name = locked.name ?? path.slice(at + 'node_modules/'.length)
    const { version = '', integrity = '', resolved } = locked
    const subject = `${name} ${version} (${path})`
    if (!/^sha(?:512|384)-/.test(integrity))
      problems.push(`${subject} has no checksum that is safe.`)
    if (resolved !== undefined && !resolved.startsWith('https://')) {
      problems.push(`${subject} does not come over https: ${resolved}`)
    }
    for (const advisory of advisories) {
      if (advisory.package !== name || !isInRange(version, advisory.vulnerable)) continue
      const exception = accepted.find(
        (one) => one.id === advisory.id && one.package === name && one.version === version,
      )
      if (exception !== undefined && locked.dev === true) used.add(exception)
      else problems.push(`${subject}: ${advisory.title} (${advisory.id})`)
    }
  }
  for (const one of accepted) {
    if (!used.has(one)) {
      problems.push(`${one.id} is accepted for ${one.package} ${one.version}, which is not there.`)
    }
  }
  return problems
}

/** Throws for a range or a version that it cannot read: silence would pass for safety. */
export function isInRange(version: string, range: string): boolean {
  return range.split('||').some((part) => {
    const comparisons = part.trim().split(/\s+/)
    return comparisons.every((comparison) => {
      const [, operator = '', bound = ''] = /^(<=|>=|<|>|=)(\S+)$/.exec(comparison) ?? []
      if (operator === '') throw new Error(`This is no range of versions: ${range}`)
      const order = compareVersions(version, bound)
      switch (operator) {
        case '<':
          return order < 0
        case '<=':
          return order <= 0
        case '>':
          return order > 0
        case '>=':
          return order >= 0
        default:
          return order === 0
      }
    })
  })
}

/** By semantic versioning: a pre-release comes before its release, and build metadata counts for nothing. */
function compareVersions(left: string, right: string): number {
  const [a, b] = [parseVersion(left), parseVersion(right)]
  for (const index of [0, 1, 2]) {
    const difference = (a.numbers[index] ?? 0) - (b.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length
  for (let index = 0; index < Math.max(a.pre.length, b.pre.length); index++) {
    const order = compareIdentifiers(a.pre[index], b.pre[index])
    if (order !== 0) return order
  }
  return 0
}

function compareIdentifiers(left: string | undefined, right: string | undefined): number {
  if (left === right) return 0
  if (left === undefined) return -1
  if (right === undefined) return 1
  const areNumbers = [left, right].map((text) => /^\d+$/.test(text))
  if (areNumbers[0] && areNumbers[1]) return Number(left) - Number(right)
  if (areNumbers[0] !== areNumbers[1]) return areNumbers[0] ? -1 : 1
  return left < right ? -1 : 1
}

function parseVersion(version: string): {
  readonly numbers: readonly number[]
  readonly pre: readonly string[]
} {
  const [, numbers = '', pre = ''] =
    /^(\d+\.\d+\.\d+)(?:-([\w.-]+))?(?:\+[\w.-]+)?$/.exec(version) ?? []
  if (numbers === '') throw new Error(`This is no version: ${version}`)
  return { numbers: numbers.split('.').map(Number), pre: pre === '' ? [] : pre.split('.') }
}
