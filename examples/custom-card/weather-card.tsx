import { type CardEntry, type CardProps, isJsonObject } from 'holdfast/widgets'
import type { ReactNode } from 'react'

/** Drawn from the same props while it streams in, after a reload, and on a second device. */
function WeatherCard({ output }: CardProps): ReactNode {
  // What a tool returned is data from outside: it may be old, or lack what is expected.
  const data = isJsonObject(output) ? output : {}
  const city = typeof data['city'] === 'string' ? data['city'] : 'Somewhere'
  const celsius = Math.round(Number(data['temperatureC']))
  return (
    <label>
      {city}: {celsius} °C <meter min={-20} max={40} value={celsius} />
    </label>
  )
}

export const weatherCard: CardEntry = {
  component: WeatherCard,
  version: '2',
  upcasters: {
    // Version 1 was in Fahrenheit. What is stored stays as it is; it is brought up when it is read.
    '1': (output) => {
      const data = isJsonObject(output) ? output : {}
      return { ...data, version: '2', temperatureC: ((Number(data['temperatureF']) - 32) * 5) / 9 }
    },
  },
}
