import { posix } from 'node:path'
import type { ModuleShape } from './module-shape.ts'

const KEBAB_CASE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z]+)*$/
const SAYS_NOTHING = /^(?:utils?|helpers?|types?)\./

export function findNameProblems(modules: readonly ModuleShape[]): readonly string[] {
  return modules.flatMap(({ path }) => {
    const problems: string[] = []
    if (!path.split('/').every((name) => KEBAB_CASE.test(name))) {
      problems.push(`${path} is not in kebab-case`)
    }
    if (SAYS_NOTHING.test(posix.basename(path))) {
      problems.push(`${path} is not named after what it has`)
    }
    return problems
  })
}

export function findIndexProblems(modules: readonly ModuleShape[]): readonly string[] {
  return modules
    .filter((module) => /\/index\.tsx?$/.test(module.path) && !module.onlyReExportsByName)
    .map((module) => `${module.path} does more than re-export by name`)
}

export function findExtensionProblems(modules: readonly ModuleShape[]): readonly string[] {
  return modules.flatMap((module) =>
    module.specifiers
      .filter((specifier) => specifier.startsWith('.'))
      .filter((specifier) => !/\.(?:tsx?|mjs|css|json|svg)$/.test(specifier))
      .map((specifier) => `${module.path}: ${specifier} does not end in .ts`),
  )
}
