import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listContent, toPackageName, writeTemplate } from './write-template.ts'

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-init-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('a template', () => {
  it('[CF5] is written whole, also into folders that are not there yet', async () => {
    const folder = join(makeFolder(), 'some/where')
    const files = await writeTemplate(folder)
    const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    expect(found.filter((path) => path !== 'web').toSorted()).toEqual(files.toSorted())
    expect(files).toContain('.gitignore')
  })

  it('[CF5] leaves nothing where a file of it cannot be written, and overwrites nothing', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'web'), 'in the way')
    await expect(writeTemplate(folder)).rejects.toThrow('Nothing was left there')
    expect(readdirSync(folder)).toEqual(['web'])

    writeFileSync(join(folder, 'tools.ts'), 'mine')
    await expect(writeTemplate(folder)).rejects.toThrow('EEXIST')
    expect(readdirSync(folder).toSorted()).toEqual(['tools.ts', 'web'])
  })

  it('[CF5] treats a folder as empty that has only files that tools leave there', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, '.DS_Store'), '')
    expect(await listContent(folder)).toEqual([])
    writeFileSync(join(folder, 'notes.txt'), '')
    expect(await listContent(folder)).toEqual(['notes.txt'])
    expect(await listContent(join(folder, 'none'))).toEqual([])
    await expect(listContent(join(folder, 'notes.txt'))).rejects.toThrow('is a file')
  })

  it.each([
    ['my-chat', 'my-chat'],
    ['/home/ada/My Chat!', 'my-chat'],
    ['_hidden', 'hidden'],
    ['Überchat', 'berchat'],
    ['聊天', 'chat'],
    ['holdfast', 'chat'],
  ])('[CF5] has a name that npm takes: %s is %s', (folder, name) => {
    expect(toPackageName(folder)).toBe(name)
  })
})
