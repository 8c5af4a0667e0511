import type { JsonObject } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { textOf } from './fields.ts'

/** Where the data is from. The demo says that its data is made up. */
export function Source({ data }: { readonly data: JsonObject }): ReactNode {
  const source = textOf(data, 'source')
  if (source === undefined) return null
  return (
    <p className="card-source">
      <bdi>{source.charAt(0).toUpperCase() + source.slice(1)}</bdi>
    </p>
  )
}
