import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { isHolderAlive, processHolder } from './process-holder.ts'

const isLinux = process.platform === 'linux'

describe('processHolder', () => {
  it('[CR2] names this process, another name each time', () => {
    expect(processHolder()).toMatch(new RegExp(`^pid:${process.pid}:[\\d.]*:[\\da-f]{12}$`))
    expect(processHolder()).not.toBe(processHolder())
    expect(isHolderAlive(processHolder())).toBe(true)
  })

  it('[CR2] a process that has ended is dead', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    expect(isHolderAlive(`pid:${pid}::nonce`)).toBe(false)
  })

  it('[CR2] a name that says nothing of a process counts as alive', () => {
    expect(isHolderAlive('server-7')).toBe(true)
    expect(isHolderAlive('pid:')).toBe(true)
    expect(isHolderAlive('')).toBe(true)
  })

  it.runIf(isLinux)('[CR2] a process that took over the number of another is not that one', () => {
    const [, pid, start = ''] = processHolder().split(':')
    const [namespace, ticks] = start.split('.')
    expect(isHolderAlive(`pid:${pid}:${namespace}.${Number(ticks) - 1}:nonce`)).toBe(false)
  })

  it.runIf(isLinux)('[CR2] a number in another container says nothing of this one', () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    const namespace = processHolder().split(/[:.]/)[2]
    expect(isHolderAlive(`pid:${pid}:${namespace}.1:nonce`)).toBe(false)
    expect(isHolderAlive(`pid:${pid}:${Number(namespace) + 1}.1:nonce`)).toBe(true)
  })
})
