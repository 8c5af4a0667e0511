import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkOptions } from '../core/check-options.ts'
import { CliError } from './cli-error.ts'
import { configRules } from './config-rules.ts'
import type { HoldfastConfig } from './config.ts'

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
