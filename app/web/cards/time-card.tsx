import type { CardEntry, CardProps } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { objectOf, textOf } from './fields.ts'

function TimeCard({ input, output }: CardProps): ReactNode {
  const data = objectOf(output)
  return (
    <div className="card-time">
      <div>
        <h3>
          <bdi>{textOf(data, 'city') ?? textOf(objectOf(input), 'city')}</bdi>
        </h3>
        <p>{textOf(data, 'timeZone', 'timezone')}</p>
      </div>
      <time>{textOf(data, 'localTime', 'time') ?? '–'}</time>
    </div>
  )
}

export const timeCard: CardEntry = { component: TimeCard, version: '1' }
