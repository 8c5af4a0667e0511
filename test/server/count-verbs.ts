import type { PlannedCommit, Store } from 'holdfast'

/** A store whose calls are listed. */
export interface CountedStore {
  readonly store: Store
  /** The verbs that were called since the last drain, in order; a commit with the types of its events. */
  readonly drain: () => readonly string[]
}

export function countVerbs(store: Store): CountedStore {
  let called: string[] = []
  const counted = new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        called.push([String(name), ...(name === 'commit' ? typesIn(args[0]) : [])].join(' '))
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  return {
    store: counted,
    drain() {
      const drained = called
      called = []
      return drained
    },
  }
}

const typesIn = (commits: unknown): readonly string[] =>
  (commits as readonly PlannedCommit[]).flatMap(({ numbered }) => numbered.map(({ type }) => type))

/** The verbs before the first commit. */
export function beforeCommit(verbs: readonly string[]): readonly string[] {
  const commit = verbs.findIndex((verb) => verb.startsWith('commit'))
  return commit === -1 ? verbs : verbs.slice(0, commit)
}
