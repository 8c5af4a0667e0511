// Compares the lockfile with the list of known faults that the project keeps. Needs no network.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AdvisoryList, findLockfileProblems, type Lockfile } from './lockfile-audit.ts'
import { parseScriptArguments } from './script-arguments.ts'

const project = join(import.meta.dirname, '..')

const { values } = parseScriptArguments({
  usage: `node scripts/audit-lockfile.ts [--lockfile FILE] [--advisories FILE]

Refuses a dependency whose version is on the list of known faults (security/advisories.json), one without a
checksum, and one that does not come over https. Exit code: 0 nothing found, 1 something, 2 not understood.

The list is kept by hand: compare it with \`npm audit\` now and then, where there is a network, and set its date.`,
  options: {
    lockfile: { type: 'string', default: join(project, 'package-lock.json') },
    advisories: { type: 'string', default: join(project, 'security/advisories.json') },
  },
})

const read = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'))
const list = read(values.advisories) as AdvisoryList
const lockfile = read(values.lockfile) as Lockfile
const problems = findLockfileProblems(lockfile, list)
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else {
  const { advisories, accepted, date } = list
  console.log(
    `No known fault in ${Object.keys(lockfile.packages).length} packages, by ${advisories.length} advisories as of ${date}; ${accepted.length} accepted.`,
  )
}
