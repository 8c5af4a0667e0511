import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isHolderAlive, processHolder } from './process-holder.ts'

const isLinux = process.platform === 'linux'

describe('processHolder', () => {
  it('[CR2] names this process, another name each time', () => {
    expect(processHolder()).toMatch(new RegExp(`^pid:${process.pid}:[\\d.]*:[\\da-f]{12}:$`))
    expect(processHolder()).not.toBe(processHolder())
    // The engine decides about runs of this process.
    expect(isHolderAlive(processHolder())).toBeUndefined()
  })

  it('[CR2] a process that has ended is dead', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    expect(isHolderAlive(`pid:${pid}::nonce`)).toBe(false)
  })

  it('[CR2] a name without a process is undecided', () => {
    expect(isHolderAlive('server-7')).toBeUndefined()
    expect(isHolderAlive('pid:')).toBeUndefined()
    expect(isHolderAlive('')).toBeUndefined()
    expect(isHolderAlive(`pid:${process.ppid}::nonce`)).toBeUndefined()
  })

  it.runIf(isLinux)('[CR2] another process lives while it exists, stopped or not', () => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    onTestFinished(() => void child.kill('SIGKILL'))
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    const namespace = processHolder().split(/[:.]/)[2]
    const holder = `pid:${child.pid}:${namespace}.${ticks}:nonce`
    expect(isHolderAlive(holder)).toBe(true)
    child.kill('SIGSTOP')
    expect(isHolderAlive(holder)).toBe(true)
    expect(isHolderAlive(`${holder}:1.2`, '1.2')).toBe(true)
    // A copy of the file contains the lease too, and this process does not work on the copy.
    expect(isHolderAlive(`${holder}:1.2`, '1.3')).toBeUndefined()
  })

  it.runIf(isLinux)('[CR2] a process with the pid of an earlier one is not that one', () => {
    const [, pid, start = ''] = processHolder().split(':')
    const [namespace, ticks] = start.split('.')
    expect(isHolderAlive(`pid:${pid}:${namespace}.${Number(ticks) - 1}:nonce`)).toBe(false)
  })

  it.runIf(isLinux)('[CR2] a pid of another container is undecided', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    const namespace = processHolder().split(/[:.]/)[2]
    expect(isHolderAlive(`pid:${pid}:${namespace}.1:nonce`)).toBe(false)
    expect(isHolderAlive(`pid:${pid}:${Number(namespace) + 1}.1:nonce`)).toBeUndefined()
  })
})
