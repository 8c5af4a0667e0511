import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

/**
 * Names this process as the holder of a lease in a file: `pid:<pid>:<start>:<nonce>:<file>`. Process ids are used
 * again, so on Linux `start` says which one is meant: its namespace and the tick it was started at.
 */
export function processHolder(file = ''): string {
  const start = readStart(process.pid) ?? ''
  return `pid:${process.pid}:${start}:${randomBytes(6).toString('hex')}:${file}`
}

/**
 * True and false only if it is certain (see `IsHolderAlive`). A process that is stopped or blocked lives: whoever
 * took its runs would tell people that nobody knows what became of calls that it is still busy with.
 */
export function isHolderAlive(holder: string, file = ''): boolean | undefined {
  const match = /^pid:(\d{1,10}):([\d.]*):[^:]*(?::(.*))?$/.exec(holder)
  if (match === null) return undefined
  const pid = Number(match[1])
  const start = match[2] ?? ''
  // In another container the number means another process, and this one may well be alive.
  if (start !== '' && start.split('.')[0] !== readNamespace()) return undefined
  if (!isRunning(pid)) return false
  const found = readStart(pid)
  // Without a start it may be another process that was given the same number.
  if (start === '' || found === undefined) return undefined
  if (found !== start) return false
  // In a copy of the file that the process works on there is a lease that it knows nothing of.
  if ((match[3] ?? '') !== file) return undefined
  // That this process lives says nothing of a run of its own: it may have been given up. The engine knows.
  return pid === process.pid ? undefined : true
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** `ended` for a process that is dead and only waits for its parent to notice. */
function readStart(pid: number): string | undefined {
  const namespace = readNamespace()
  if (namespace === undefined) return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold anything; the state follows, and 19 fields on, the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : `${namespace}.${fields[19]}`
  } catch {
    // No /proc, or the process ended meanwhile: nothing is known of its start.
    return undefined
  }
}

function readNamespace(): string | undefined {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]
  } catch {
    // Not Linux.
    return undefined
  }
}
