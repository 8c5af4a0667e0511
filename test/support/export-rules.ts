import { type ModuleShape, resolveRelative } from './module-shape.ts'

/**
 * The values of these modules that no other of them imports, and that no entry point exports: what is exported is read as
 * something that others depend on.
 */
export function findDeadExports(
  modules: readonly ModuleShape[],
  users: readonly ModuleShape[],
  entryPoints: readonly string[],
): readonly string[] {
  const used = new Set<string>()
  const usedWhole = new Set(entryPoints)
  for (const { path, uses } of [...modules, ...users]) {
    for (const { specifier, names } of uses) {
      const target = resolveRelative(path, specifier)
      if (target === undefined) continue
      if (names === null) usedWhole.add(target)
      else for (const name of names) used.add(`${target} ${name}`)
    }
  }
  return modules
    .filter(({ path, isTest }) => !isTest && !usedWhole.has(path))
    .flatMap(({ path, exportedValues }) =>
      exportedValues
        .filter((name) => !used.has(`${path} ${name}`))
        .map((name) => `${path}: nothing imports ${name}`),
    )
}
