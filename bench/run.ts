import { availableParallelism, cpus } from 'node:os'
import { benchAppend } from './append.ts'
import { benchDecision } from './decision.ts'
import { benchFanOut } from './fan-out.ts'
import { benchFold } from './fold.ts'
import { benchImportPauses } from './import-pauses.ts'
import { benchLargeAnswers } from './large-answers.ts'
import { benchLoad } from './load.ts'
import { benchPage } from './page.ts'
import { benchPostgres } from './postgres.ts'
import { benchSearch } from './search.ts'
import { benchSize } from './size.ts'
import { benchSlices } from './slices.ts'
import { benchSlowReaders } from './slow-readers.ts'
import { benchSoak } from './soak.ts'
import { benchThreads } from './threads.ts'
import { benchTransfer } from './transfer.ts'
import { benchTurn } from './turn.ts'
import { benchUpload } from './upload.ts'
import { benchVersions } from './versions.ts'
import { parseScriptArguments, refuseArguments } from '../scripts/script-arguments.ts'

const sections: Readonly<Record<string, () => Promise<void>>> = {
  fold: benchFold,
  append: benchAppend,
  page: benchPage,
  turn: benchTurn,
  size: benchSize,
  postgres: benchPostgres,
  decision: benchDecision,
  versions: benchVersions,
  search: benchSearch,
  upload: benchUpload,
  threads: benchThreads,
  'fan-out': benchFanOut,
  'slow-readers': benchSlowReaders,
  'large-answers': benchLargeAnswers,
  slices: benchSlices,
  load: benchLoad,
  soak: benchSoak,
  transfer: benchTransfer,
  'import-pauses': benchImportPauses,
}

const names = Object.keys(sections)
const usage = `npm run bench -- [SECTION …]

Measures, and prints a table for each section; without a name, all of them: ${names.join(', ')}`
const { positionals: wanted } = parseScriptArguments({ usage, words: names.length })
const unknown = wanted.filter((name) => !names.includes(name))
if (unknown.length > 0) refuseArguments(`Unknown: ${unknown.join(', ')}.`, usage)

console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}`)
console.log(
  'Ratios are medians of rounds taken in turns; a bar is what the project holds itself to.',
)
for (const [name, section] of Object.entries(sections)) {
  if (wanted.length === 0 || wanted.includes(name)) await section()
}
