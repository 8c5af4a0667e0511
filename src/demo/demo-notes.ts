import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A note of the demo. */
export interface DemoNote {
  readonly title: string
  readonly text: string
}

/** The store of the demo's notes. Titles are compared ignoring case. */
export interface DemoNotes {
  list(): Promise<readonly DemoNote[]>
  /** Writes a note, replacing one with the same title. Rejects a title that is not plain words. */
  write(note: DemoNote): Promise<void>
  /** False if there is no such note. */
  remove(title: string): Promise<boolean>
}

/** Words, without characters that have a meaning in a path, and no longer than a file name may be. */
const noteTitle = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} '’-]{0,79}$/u

const checkTitle = (title: string): void => {
  if (!noteTitle.test(title)) {
    throw new Error('The title of a note is up to 80 letters, digits, spaces and hyphens.')
  }
}

const firstNotes: readonly DemoNote[] = [
  { title: 'Groceries', text: 'Milk, bread, apples, coffee beans and something for Sunday.' },
  { title: 'Meeting', text: 'Monday at ten: release plan, who writes the notes, coffee.' },
  { title: 'Travel', text: 'Night train to Vienna on Friday, hotel near the station, passport.' },
  { title: 'Ideas', text: 'A chat that forgets nothing. A kettle that says how long it takes.' },
  { title: 'Reading', text: 'Two books on databases, one on birds, and the long novel again.' },
]

const sameTitle = (left: string, right: string): boolean =>
  left.trim().toLowerCase() === right.trim().toLowerCase()

/** The five initial notes, in memory: the next process begins with the initial ones again. */
export function memoryNotes(): DemoNotes {
  let notes = firstNotes
  return {
    list: () => Promise.resolve(notes),
    async write(note) {
      checkTitle(note.title)
      notes = [...notes.filter(({ title }) => !sameTitle(title, note.title)), note]
    },
    remove(title) {
      const left = notes.filter((note) => !sameTitle(note.title, title))
      const wasThere = left.length < notes.length
      notes = left
      return Promise.resolve(wasThere)
    },
  }
}

/** Notes as files in a folder, which is created with the initial notes if it does not exist. */
export function folderNotes(folder: string): DemoNotes {
  let opened: Promise<void> | undefined
  const open = async (): Promise<void> => {
    if ((await mkdir(folder, { recursive: true })) === undefined) return
    for (const { title, text } of firstNotes) await writeFile(join(folder, `${title}.txt`), text)
  }
  const files = async (): Promise<readonly { file: string; title: string }[]> => {
    await (opened ??= open())
    const names = (await readdir(folder)).filter((name) => name.endsWith('.txt')).toSorted()
    return names.map((name) => ({ file: join(folder, name), title: name.slice(0, -4) }))
  }
  return {
    async list() {
      const found = await files()
      return Promise.all(
        found.map(async ({ file, title }) => ({ title, text: await readFile(file, 'utf8') })),
      )
    },
    async write({ title, text }) {
      checkTitle(title)
      const found = (await files()).find((each) => sameTitle(each.title, title))
      await writeFile(found?.file ?? join(folder, `${title}.txt`), text)
    },
    async remove(title) {
      // A title is only compared, never used as a path.
      const found = (await files()).find((each) => sameTitle(each.title, title))
      if (found === undefined) return false
      await rm(found.file, { force: true })
      return true
    },
  }
}
