import { type PointerEvent, type ReactNode, useState } from 'react'

export interface ChartPoint {
  readonly label: string
  readonly value: number
}

const width = 320
const height = 96
const edge = 4

/** A line over time. The numbers are in the label for those who cannot see it. */
export function LineChart(props: {
  readonly points: readonly ChartPoint[]
  readonly look: 'up' | 'down'
  readonly label: string
}): ReactNode {
  const { points, look, label } = props
  const [at, setAt] = useState<number | null>(null)
  const values = points.map(({ value }) => value)
  const low = Math.min(...values)
  const high = Math.max(...values)
  const x = (index: number) => edge + (index / (points.length - 1)) * (width - 2 * edge)
  const y = (value: number) =>
    height - edge - ((value - low) / Math.max(high - low, 1e-9)) * (height - 2 * edge)
  const line = points.map(({ value }, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`)
  const first = points[0]
  const last = points.at(-1)
  const shown = at === null ? last : points[at]
  const move = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const place = (event.clientX - box.left) / box.width
    setAt(Math.round(Math.min(1, Math.max(0, place)) * (points.length - 1)))
  }
  return (
    <figure className={`card-chart card-${look}`}>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        onPointerMove={move}
        onPointerLeave={() => setAt(null)}
      >
        <polygon points={`${edge},${height} ${line.join(' ')} ${width - edge},${height}`} />
        <polyline points={line.join(' ')} />
        {at !== null && <line x1={x(at)} x2={x(at)} y1={0} y2={height} />}
      </svg>
      <span className="hf-visually-hidden">
        {`${label}: from ${first?.value.toFixed(2)} to ${last?.value.toFixed(2)}, between ${low.toFixed(2)} and ${high.toFixed(2)}`}
      </span>
      <figcaption>
        <span>{at === null ? first?.label : ''}</span>
        <span>
          {shown?.label}
          {at === null ? '' : `: ${shown?.value.toFixed(2)}`}
        </span>
      </figcaption>
    </figure>
  )
}
