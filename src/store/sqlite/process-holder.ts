import { randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

/**
 * The name of this process as the holder of a lease in a file: `pid:<pid>:<start>:<nonce>:<file>`. Process
 * ids are reused, so on Linux `start` identifies the process: its pid namespace and the tick it was started
 * at.
 */
export function processHolder(file = ''): string {
  const start = readStart(process.pid) ?? ''
  return `pid:${process.pid}:${start}:${randomBytes(6).toString('hex')}:${file}`
}

/**
 * True and false only if it is certain (see `IsHolderAlive`). A process that is stopped or blocked lives: a
 * takeover of its runs would mark calls as unknown that it is still executing.
 */
export function isHolderAlive(holder: string, file = ''): boolean | undefined {
  const match = /^pid:(\d{1,10}):([\d.]*):[^:]*(?::(.*))?$/.exec(holder)
  if (match === null) return undefined
  const pid = Number(match[1])
  const start = match[2] ?? ''
  // In another container the pid belongs to another process, and the holder may well be alive.
  if (start !== '' && start.split('.')[0] !== readNamespace()) return undefined
  if (!isRunning(pid)) return false
  const found = readStart(pid)
  // Without a start it may be another process with the same pid.
  if (start === '' || found === undefined) return undefined
  if (found !== start) return false
  // A copy of the file contains a lease of a process that does not work on the copy.
  if ((match[3] ?? '') !== file) return undefined
  // That this process lives does not prove that its run does: the run may have been abandoned. The engine
  // decides that.
  return pid === process.pid ? undefined : true
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** `ended` for a zombie: a dead process that its parent has not reaped. */
function readStart(pid: number): string | undefined {
  const namespace = readNamespace()
  if (namespace === undefined) return undefined
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain anything; the state follows it, and 19 fields later the start.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? 'ended' : `${namespace}.${fields[19]}`
  } catch {
    // No /proc, or the process ended meanwhile: its start is unknown.
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
