// npm run stream-text-guide: writes the table of what becomes of each option of `streamText`.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseScriptArguments } from './script-arguments.ts'
import { toStreamTextGuide } from './stream-text-options.ts'

parseScriptArguments({
  usage: `npm run stream-text-guide

Writes docs/guides/stream-text-options.md from scripts/stream-text-options.ts.`,
})
const file = join(import.meta.dirname, '../docs/guides/stream-text-options.md')
writeFileSync(file, toStreamTextGuide())
