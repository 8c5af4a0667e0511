import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { joinStyles } from '../scripts/join-styles.ts'

const widgets = join(import.meta.dirname, '../src/widgets')
const joined = joinStyles(join(widgets, 'widgets.css'))

it('the published stylesheet has the rules of every widget once, and loads nothing', () => {
  const files = globSync('**/*.css', { cwd: widgets }).filter((file) => file !== 'widgets.css')
  expect(files.length).toBeGreaterThan(1)
  const timesJoined = files.map((file) => {
    const rules = readFileSync(join(widgets, file), 'utf8')
    return { file, times: joined.split(rules).length - 1 }
  })
  expect(timesJoined).toEqual(files.map((file) => ({ file, times: 1 })))
  expect(joined).not.toContain('@import')
  expect(joined).not.toContain('url(')
})

it('every file stands beside the widget whose name it has', () => {
  const misplaced = globSync('*/**/*.css', { cwd: widgets }).filter(
    (file) => !/^(?<folder>[a-z-]+)\/\k<folder>\.css$/.test(file),
  )
  expect(misplaced).toEqual([])
})
