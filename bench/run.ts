import { availableParallelism, cpus } from 'node:os'
import { benchAppend } from './append.ts'
import { benchDecision } from './decision.ts'
import { benchFanOut } from './fan-out.ts'
import { benchFold } from './fold.ts'
import { benchLoad } from './load.ts'
import { benchPage } from './page.ts'
import { benchSize } from './size.ts'
import { benchSoak } from './soak.ts'
import { benchThreads } from './threads.ts'
import { benchTransfer } from './transfer.ts'
import { benchTurn } from './turn.ts'

/** `npm run bench`, or `npm run bench -- page fold` for some of it. */
const sections: Readonly<Record<string, () => Promise<void>>> = {
  fold: benchFold,
  append: benchAppend,
  page: benchPage,
  turn: benchTurn,
  size: benchSize,
  decision: benchDecision,
  threads: benchThreads,
  'fan-out': benchFanOut,
  load: benchLoad,
  soak: benchSoak,
  transfer: benchTransfer,
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !Object.hasOwn(sections, name))
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(', ')}. There is: ${Object.keys(sections).join(', ')}.`)
  process.exit(2)
}
console.log(`Node ${process.version}, ${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}`)
console.log(
  'Ratios are medians of rounds taken in turns; a bar is what the project holds itself to.',
)
for (const [name, section] of Object.entries(sections)) {
  if (wanted.length === 0 || wanted.includes(name)) await section()
}
