// One process of a system: `node process.mjs SYSTEM ask|recover|read|time ADDRESS THREAD`. Says line by line what it shows.

import { show } from './script.mjs'

const [system, verb, address, threadId] = process.argv.slice(2)
const { open } = await import(`./systems/${system}.mjs`)
const opened = await open(address)
switch (verb) {
  case 'ask':
    await opened.ask(threadId)
    break
  case 'recover':
    await opened.recover(threadId)
    show({ kind: 'reloaded', ...(await opened.read(threadId)) })
    break
  case 'read':
    show({ kind: 'reloaded', ...(await opened.read(threadId)) })
    break
  case 'time':
    for (let turn = 0; turn < 40; turn++) {
      const begun = performance.now()
      const before = process.cpuUsage()
      await opened.ask(`${threadId}-${turn}`)
      const { user, system: kernel } = process.cpuUsage(before)
      show({ kind: 'took', ms: performance.now() - begun, cpuMs: (user + kernel) / 1_000 })
    }
    break
}
await opened.close()
process.exit(0)
