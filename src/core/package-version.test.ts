import { expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { packageVersion } from './package-version.ts'

it('[HT1] is the version in package.json', () => {
  expect(packageVersion).toBe(packageJson.version)
})
