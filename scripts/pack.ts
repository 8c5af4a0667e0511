// npm run pack: makes the package that is published, in package/, and its tarball.

import { join } from 'node:path'
import { buildPackage } from './build-package.ts'
import { runCommand } from './run-command.ts'
import { parseScriptArguments } from './script-arguments.ts'

parseScriptArguments({
  usage: 'npm run pack\n\nBuilds the package that is published, in package/, and packs it.',
})
buildPackage(join(import.meta.dirname, '../package'))
process.exitCode = runCommand('npm', ['pack', './package'])
