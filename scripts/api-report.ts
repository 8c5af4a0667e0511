// npm run api-report: writes down what the package exports.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeApi } from './describe-api.ts'
import { parseScriptArguments } from './script-arguments.ts'

parseScriptArguments({
  usage: `npm run api-report

Writes what each entry point of the package exports into api-report/, for review. A test compares it.`,
})
const folder = join(import.meta.dirname, '../api-report')
const pages = describeApi()
mkdirSync(folder, { recursive: true })
for (const name of readdirSync(folder)) if (!pages.has(name)) rmSync(join(folder, name))
for (const [name, page] of pages) writeFileSync(join(folder, name), page)
console.log(`Wrote ${pages.size} pages into api-report/.`)
