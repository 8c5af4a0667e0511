import { spawnSync } from 'node:child_process'
import { chown, cp } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { PostgresBinaries } from './postgres-binaries.ts'

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

/** One way to run PostgreSQL's programs under an account that PostgreSQL accepts. */
export interface Account {
  readonly name: string
  /** Makes what lies in `folder` usable for the account. */
  prepare(folder: string): Promise<void>
  command(program: keyof PostgresBinaries, args: readonly string[]): Command
}

/**
 * PostgreSQL refuses to run as root, and no single way around that works everywhere: `nobody` may
 * not be able to enter the project's folder, containers may forbid user namespaces. So root gets
 * several ways, cheapest first; the caller takes the first one that works.
 */
export function listAccounts(binaries: PostgresBinaries): readonly Account[] {
  if (process.getuid?.() !== 0) return [asSelf(binaries)]
  return [asNobody(binaries), inUserNamespace(binaries), asNobodyWithCopy(binaries)]
}

function asSelf(binaries: PostgresBinaries): Account {
  return {
    name: 'your own account',
    prepare: async () => {},
    command: (program, args) => ({ file: binaries[program], args }),
  }
}

function asNobody(binaries: PostgresBinaries): Account {
  const ids = { uid: readId('-u'), gid: readId('-g') }
  return {
    name: 'the account "nobody"',
    prepare: (folder) => chown(folder, ids.uid, ids.gid),
    command: (program, args) => ({ file: binaries[program], args, ...ids }),
  }
}

function inUserNamespace(binaries: PostgresBinaries): Account {
  const prefix = ['--user', '--map-user=65534', '--map-group=65534', '--']
  return {
    name: 'a user namespace (unshare)',
    prepare: async () => {},
    command: (program, args) => ({
      file: 'unshare',
      args: [...prefix, binaries[program], ...args],
    }),
  }
}

function asNobodyWithCopy(binaries: PostgresBinaries): Account {
  const native = dirname(dirname(binaries.postgres))
  let copied = binaries
  return {
    name: 'the account "nobody" with a copy of the programs',
    async prepare(folder) {
      const copy = join(folder, 'programs')
      await cp(native, copy, { recursive: true, verbatimSymlinks: true })
      copied = {
        initdb: join(copy, relative(native, binaries.initdb)),
        postgres: join(copy, relative(native, binaries.postgres)),
      }
      await asNobody(copied).prepare(folder)
    },
    command: (program, args) => asNobody(copied).command(program, args),
  }
}

// 65534 on nearly every Linux; asked for, because it is not so on every system.
function readId(flag: '-u' | '-g'): number {
  const id = Number.parseInt(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout, 10)
  return Number.isInteger(id) ? id : 65534
}
