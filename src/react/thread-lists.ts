import type { ApiOptions } from '../client/api.ts'
import {
  createThreadListClient,
  type ThreadListClient,
  type ThreadListFilter,
} from '../client/thread-list-client.ts'

/** The lists of one page: one client for each filter; a change in one shows in all (FK2). */
export function createThreadLists(
  api: ApiOptions,
): (filter?: ThreadListFilter) => ThreadListClient {
  const lists = new Map<
    string,
    { readonly own: ThreadListClient; readonly shared: ThreadListClient }
  >()
  const othersOf = (own: ThreadListClient) =>
    [...lists.values()].map((list) => list.own).filter((other) => other !== own)
  const refreshOthers = (own: ThreadListClient) =>
    Promise.all(othersOf(own).map((other) => other.refresh()))

  const share = (own: ThreadListClient): ThreadListClient => {
    const update: ThreadListClient['update'] = async (id, change) => {
      await own.update(id, change)
      await refreshOthers(own)
    }
    return {
      ...own,
      update,
      rename: (id, title) => update(id, { title }),
      remove(id) {
        const removal = own.remove(id)
        const elsewhere = othersOf(own).map((list) => ({ list, undo: list.remove(id).undo }))
        const showElsewhere = () => {
          for (const { undo } of elsewhere) undo()
        }
        return {
          async commit() {
            try {
              await removal.commit()
            } catch (error) {
              showElsewhere()
              throw error
            }
            await refreshOthers(own)
            for (const { list, undo } of elsewhere) {
              // A list that was not read again still has the thread, and would show it.
              if (list.getSnapshot().status === 'ready') undo()
            }
          },
          undo() {
            removal.undo()
            showElsewhere()
          },
        }
      },
    }
  }

  return ({ archived = false, pinned = false } = {}) => {
    const key = `${archived} ${pinned}`
    let list = lists.get(key)
    if (list === undefined) {
      const own = createThreadListClient({ ...api, archived, pinned })
      list = { own, shared: share(own) }
      lists.set(key, list)
    }
    return list.shared
  }
}
