import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'

/**
 * As its profile `esm-only`: Node 22.13, the oldest that is promised, loads modules with `require` too, and the resolution of Node 10 has
 * no entry points.
 */
const passedOver: readonly string[] = ['node10', 'node16-cjs']

it('[CF4] the types of every entry are found, and are those of what is loaded', async () => {
  const tarball = createPackageFromTarballData(new Uint8Array(readFileSync(inject('tarball'))))
  const analysis = await checkPackage(tarball)
  if (analysis.types === false) throw new Error('The package has no types.')
  const problems = analysis.problems.filter(
    (problem) => !('resolutionKind' in problem && passedOver.includes(problem.resolutionKind)),
  )
  expect(problems).toEqual([])
  expect(Object.keys(analysis.entrypoints)).toContain('./widgets.css')
})
