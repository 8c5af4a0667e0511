// npm runs this before it packs or publishes the project's own folder, and before `npm run pack`, as the script before a
// script of that name. That and a release pack package/, whose package.json has no scripts.

import { parseScriptArguments } from './script-arguments.ts'

parseScriptArguments({
  usage:
    "npm pack\n\nFails in the project's own folder, which has no build and leads to its sources: see npm run pack.",
})
if (!['run-script', 'run'].includes(process.env['npm_command'] ?? '')) {
  console.error('Run `npm run pack`: it builds the package first.')
  process.exitCode = 1
}
