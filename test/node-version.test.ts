import { expect, it } from 'vitest'
import { readProjectFile } from './support/read-files.ts'

it('runs on the Node that package.json pins, the same for every platform', () => {
  const { optionalDependencies } = JSON.parse(readProjectFile('package.json')) as {
    optionalDependencies: Readonly<Record<string, string>>
  }
  expect(new Set(Object.values(optionalDependencies))).toEqual(new Set([process.versions.node]))
})
