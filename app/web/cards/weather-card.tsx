import type { CardEntry, CardProps, Json } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { listOf, numberOf, objectOf, textOf } from './fields.ts'
import { Source } from './source.tsx'
import { WeatherIcon } from './weather-icon.tsx'

function WeatherCard({ input, output }: CardProps): ReactNode {
  const data = objectOf(output)
  const city = textOf(data, 'city', 'location', 'name') ?? textOf(objectOf(input), 'city') ?? ''
  const condition = textOf(data, 'condition', 'conditions', 'description', 'weather') ?? ''
  const now = numberOf(data, 'temperatureC', 'temperature', 'temp')
  const facts = [
    ['Feels like', degrees(numberOf(data, 'feelsLikeC', 'feelsLike', 'feels_like'))],
    ['Humidity', withUnit(numberOf(data, 'humidityPercent', 'humidity'), '%')],
    ['Wind', withUnit(numberOf(data, 'windKph', 'wind', 'windSpeed', 'wind_speed'), 'km/h')],
  ].filter(([, value]) => value !== undefined)
  const days = listOf(data, 'forecast', 'daily', 'days').slice(0, 7)
  return (
    <div className="card-weather">
      <header>
        <div>
          <h3>
            <bdi>{city}</bdi>
          </h3>
          <p>
            <bdi>{condition}</bdi>
          </p>
        </div>
        <span className="card-weather-now">
          <WeatherIcon condition={condition} />
          {degrees(now) ?? '–'}
        </span>
      </header>
      {facts.length > 0 && (
        <dl>
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {days.length > 0 && <Forecast days={days} />}
      <Source data={data} />
    </div>
  )
}

function Forecast({ days }: { readonly days: readonly Json[] }): ReactNode {
  return (
    <ol className="card-forecast">
      {days.map((each, index) => {
        const day = objectOf(each)
        const condition = textOf(day, 'condition', 'conditions', 'description') ?? ''
        const name = textOf(day, 'day', 'date', 'name') ?? ''
        return (
          <li key={index} title={condition}>
            <span>{name.slice(0, 3)}</span>
            <WeatherIcon condition={condition} />
            <strong>{degrees(numberOf(day, 'highC', 'high', 'max')) ?? '–'}</strong>
            <span>{degrees(numberOf(day, 'lowC', 'low', 'min')) ?? '–'}</span>
          </li>
        )
      })}
    </ol>
  )
}

const degrees = (value: number | undefined): string | undefined =>
  value === undefined ? undefined : `${Math.round(value)}°`

const withUnit = (value: number | undefined, unit: string): string | undefined =>
  value === undefined ? undefined : `${Math.round(value)} ${unit}`

export const weatherCard: CardEntry = {
  component: WeatherCard,
  names: ['getWeather', 'get_current_weather', 'weather'],
  version: '1',
  upcasters: {
    // Before there were versions the temperature could be in Fahrenheit.
    '0': (output) => {
      const data = objectOf(output)
      const temperature = numberOf(data, 'temperatureC', 'temperature', 'temp')
      const isFahrenheit = /^f/i.test(textOf(data, 'unit', 'units') ?? '')
      const temperatureC =
        temperature !== undefined && isFahrenheit ? ((temperature - 32) * 5) / 9 : temperature
      return {
        ...data,
        version: '1',
        ...(temperatureC === undefined ? {} : { temperatureC }),
      }
    },
  },
}
