import { type CardEntry, type CardProps, Icon, type Json } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { listOf, numberOf, objectOf, textOf } from './fields.ts'
import { LineChart, type ChartPoint } from './line-chart.tsx'
import { Source } from './source.tsx'

function StockCard({ input, output }: CardProps): ReactNode {
  const data = objectOf(output)
  const ticker =
    textOf(data, 'ticker', 'symbol') ?? textOf(objectOf(input), 'ticker', 'symbol') ?? ''
  const points = listOf(data, 'history', 'prices', 'series', 'data').flatMap(toPoint)
  const price =
    numberOf(data, 'price', 'current_price', 'currentPrice', 'last', 'close') ??
    points.at(-1)?.value
  const change = numberOf(data, 'change')
  const percent = numberOf(data, 'changePercent', 'change_percent', 'percent')
  const look = (change ?? percent ?? 0) < 0 ? 'down' : 'up'
  const currency = textOf(data, 'currency') ?? ''
  return (
    <div className="card-stock">
      <header>
        <h3>
          <bdi>{ticker}</bdi>
        </h3>
        <p className="card-price">
          {price === undefined ? '–' : price.toFixed(2)} <small>{currency}</small>
        </p>
        {(change !== undefined || percent !== undefined) && (
          <p className={`card-change card-${look}`}>
            <Icon name={look === 'up' ? 'send' : 'down'} />
            {change !== undefined && signed(change)}
            {percent !== undefined && ` (${signed(percent)} %)`}
          </p>
        )}
      </header>
      {points.length > 1 && <LineChart points={points} look={look} label={`Price of ${ticker}`} />}
      <Source data={data} />
    </div>
  )
}

const signed = (value: number): string => `${value > 0 ? '+' : ''}${value.toFixed(2)}`

/** `{date, close}`, `[date, close]` or the number alone. */
function toPoint(entry: Json, index: number): readonly ChartPoint[] {
  if (typeof entry === 'number') return [{ label: String(index + 1), value: entry }]
  if (Array.isArray(entry)) {
    const [label, value] = entry as readonly Json[]
    return typeof value === 'number'
      ? [{ label: typeof label === 'string' ? label : JSON.stringify(label), value }]
      : []
  }
  const data = objectOf(entry)
  const value = numberOf(data, 'close', 'price', 'value')
  const label = textOf(data, 'date', 'time', 'day') ?? String(index + 1)
  return value === undefined ? [] : [{ label, value }]
}

export const stockCard: CardEntry = {
  component: StockCard,
  names: ['get_stock_data', 'getStockData', 'get_stock_price', 'getStockPrice'],
  version: '1',
  upcasters: {
    // Before there were versions a quote stood in an object of its own.
    '0': (output) => {
      const data = objectOf(output)
      return { ...data, ...objectOf(data['quote'] ?? null), version: '1' }
    },
  },
}
