// npm start: the chat of app/, on holdfast.db in this folder, with the demo model unless HOLDFAST_MODEL names another.

import { join } from 'node:path'
import { runCli } from '../src/cli/index.ts'

const config = join(import.meta.dirname, '../app/holdfast.config.ts')
process.exitCode = await runCli(['serve', '--config', config, ...process.argv.slice(2)])
