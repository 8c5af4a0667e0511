import type { Store } from 'holdfast'

/** A store whose writes can be made to fail. */
export function failingStore(store: Store): Store & { failing: boolean } {
  return {
    ...store,
    failing: false,
    commit(appends) {
      return this.failing ? Promise.reject(new Error('disk full')) : store.commit(appends)
    },
  }
}
