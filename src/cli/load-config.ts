import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { callback, checkOptions, type OptionTable } from '../core/check-options.ts'
import { CliError } from './cli-error.ts'
import type { HoldfastConfig } from './config.ts'
import { holdfastRules } from '../engine/options/option-rules.ts'
import { handlerRules } from '../server/option-rules.ts'

export async function loadConfig(file: string | undefined): Promise<HoldfastConfig> {
  if (file === undefined) return {}
  if (!existsSync(file)) throw new CliError(`There is no file ${file}. Check --config.`)
  const { default: config } = await importFile(file)
  if (typeof config !== 'object' || config === null) {
    throw new CliError(`${file} has no default export. End it with \`export default { … }\`.`)
  }
  checkOptions(file, config, configRules)
  return config
}

async function importFile(file: string): Promise<{ readonly default?: unknown }> {
  try {
    return (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown }
  } catch (error) {
    const { message } = error as Error
    throw new CliError(`${file} could not be loaded: ${message}`, { cause: error })
  }
}

const {
  store: _store,
  clock: _clock,
  newId: _newId,
  holder: _holder,
  model,
  ...engine
} = holdfastRules
const { authenticate, allowedOrigins, limits, sharing, trustProxy } = handlerRules

/** The rules of a config file: the options of `createHoldfast` and `createHandler` that a file can contain. */
const configRules: OptionTable<HoldfastConfig> = {
  ...engine,
  model: { ...model, default: 'HOLDFAST_MODEL, or the demo' },
  hooks: callback('none, beside the log of the server'),
  authenticate,
  allowedOrigins,
  limits,
  sharing,
  trustProxy,
  pages: callback('there are none'),
}
