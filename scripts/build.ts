// npm run build: makes dist/.

import { join } from 'node:path'
import { buildDist } from './build-package.ts'
import { parseScriptArguments } from './script-arguments.ts'

parseScriptArguments({ usage: 'npm run build\n\nMakes dist/.' })
buildDist(join(import.meta.dirname, '..'))
console.log('Built dist/.')
