import { type ModuleShape, resolveRelative } from './module-shape.ts'

const PURE = ['core', 'views', 'import', 'protocol']
const HEADLESS = [
  ...PURE,
  'assert-node.ts',
  'files',
  'store',
  'transfer',
  'engine',
  'audit',
  'server',
  'client',
]

/** What each folder of src/ may import besides itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  views: ['core'],
  import: ['core', 'views'],
  protocol: ['core'],
  'assert-node.ts': [],
  files: ['core', 'assert-node.ts'],
  store: [...PURE, 'files', 'assert-node.ts'],
  transfer: [...PURE, 'store'],
  engine: [...PURE, 'files', 'store', 'transfer', 'assert-node.ts'],
  audit: [...PURE, 'store'],
  server: [...PURE, 'files', 'store', 'transfer', 'engine', 'assert-node.ts'],
  client: PURE,
  react: [...PURE, 'client'],
  widgets: [...PURE, 'client', 'react'],
  demo: ['core', 'engine', 'assert-node.ts'],
  cli: [...HEADLESS, 'demo'],
  testing: HEADLESS,
  'index.ts': [...PURE, 'files', 'store', 'transfer', 'engine', 'audit', 'assert-node.ts'],
}

export function findLayerProblems(modules: readonly ModuleShape[]): readonly string[] {
  return modules
    .filter((module) => module.path.startsWith('src/') && !module.isTest)
    .flatMap((module) => {
      const layer = readLayer(module.path)
      const allowed = MAY_IMPORT[layer]
      if (!allowed) return [`${module.path} is in no layer`]
      return module.specifiers.flatMap((specifier) => {
        const target = resolveRelative(module.path, specifier)
        if (target !== undefined) {
          const targetLayer = readLayer(target)
          return targetLayer === layer || allowed.includes(targetLayer)
            ? []
            : [`${module.path}: ${layer} may not import ${target}`]
        }
        if (PURE.includes(layer)) return [`${module.path}: ${layer} may not import ${specifier}`]
        return /^holdfast(?:\/|$)/.test(specifier)
          ? [`${module.path} imports ${specifier}, its own package, by name`]
          : []
      })
    })
}

/** app/ and examples/ stand for a user's project: only what the package publishes. */
export function findPublicImportProblems(
  modules: readonly ModuleShape[],
  publicNames: readonly string[],
): readonly string[] {
  return modules.flatMap((module) => {
    const home = /^(?:app|examples\/[^/]+)\//.exec(module.path)?.[0]
    if (home === undefined) return []
    return module.specifiers.flatMap((specifier) => {
      const target = resolveRelative(module.path, specifier)
      if (target !== undefined) {
        return target.startsWith(home)
          ? []
          : [`${module.path} reaches out of ${home}: ${specifier}`]
      }
      const isOurs = /^holdfast(?:\/|$)/.test(specifier)
      return isOurs && !publicNames.includes(specifier)
        ? [`${module.path} imports ${specifier}, which is not public`]
        : []
    })
  })
}

/** Each group of files that import each other in a circle, type imports included. */
export function findCycles(modules: readonly ModuleShape[]): readonly string[] {
  const targets = new Map(
    modules.map((module) => [
      module.path,
      module.specifiers.flatMap((specifier) => resolveRelative(module.path, specifier) ?? []),
    ]),
  )
  const cycles: string[] = []
  const finished = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start !== -1) {
      cycles.push([...trail.slice(start), path].join(' → '))
      return
    }
    if (finished.has(path)) return
    for (const target of targets.get(path) ?? []) walk(target, [...trail, path])
    finished.add(path)
  }
  for (const path of targets.keys()) walk(path, [])
  return cycles
}

function readLayer(path: string): string {
  return /^src\/([^/]+)/.exec(path)?.[1] ?? path
}
