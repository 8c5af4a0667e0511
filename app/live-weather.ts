import { z } from 'zod'
import { conditionOf } from './weather-code.ts'

export interface WeatherService {
  /** An address that answers `/v1/forecast` as Open-Meteo does. */
  readonly url: string
  /** One that answers `/v1/search`; without it, the one that belongs to `url`. */
  readonly placesUrl?: string | undefined
  readonly timeoutMs?: number
}

const places = z.object({
  results: z
    .array(z.object({ name: z.string(), latitude: z.number(), longitude: z.number() }))
    .optional(),
})

const weather = z.object({
  current: z.object({
    temperature_2m: z.number(),
    apparent_temperature: z.number(),
    relative_humidity_2m: z.number(),
    wind_speed_10m: z.number(),
    weather_code: z.number(),
  }),
  daily: z.object({
    time: z.array(z.string()),
    weather_code: z.array(z.number()),
    temperature_2m_max: z.array(z.number()),
    temperature_2m_min: z.array(z.number()),
  }),
})

/** The weather as it is, from a service that answers as Open-Meteo does. Where it fails, so does this. */
export async function readLiveWeather(city: string, service: WeatherService, stop?: AbortSignal) {
  const { url, placesUrl = placesOf(url), timeoutMs = 5_000 } = service
  const late = AbortSignal.timeout(timeoutMs)
  const signal = stop === undefined ? late : AbortSignal.any([late, stop])
  try {
    const found = await read(places, signal, placesUrl, '/v1/search', { name: city, count: '1' })
    const place = found.results?.[0]
    if (place === undefined) throw new Error(`The weather service has no place “${city}”.`)
    const { current, daily } = await read(weather, signal, url, '/v1/forecast', {
      latitude: String(place.latitude),
      longitude: String(place.longitude),
      current: Object.keys(weather.shape.current.shape).join(','),
      daily: 'weather_code,temperature_2m_max,temperature_2m_min',
      timezone: 'auto',
      forecast_days: '5',
    })
    return {
      city: place.name,
      temperatureC: current.temperature_2m,
      feelsLikeC: current.apparent_temperature,
      condition: conditionOf(current.weather_code),
      humidityPercent: current.relative_humidity_2m,
      windKph: current.wind_speed_10m,
      forecast: daily.time.map((date, index) => ({
        day: dayOf(date),
        highC: daily.temperature_2m_max[index],
        lowC: daily.temperature_2m_min[index],
        condition: conditionOf(daily.weather_code[index] ?? -1),
      })),
      source: `live, from ${new URL(url).host}`,
    }
  } catch (error) {
    // What the caller stopped is not a fault of the service.
    stop?.throwIfAborted()
    if (!late.aborted) throw error
    throw new Error(`The weather service did not respond within ${timeoutMs / 1_000} seconds.`, {
      cause: error,
    })
  }
}

async function read<Answer>(
  shape: z.ZodType<Answer>,
  signal: AbortSignal,
  base: string,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<Answer> {
  const address = `${base.replace(/\/$/, '')}${path}?${new URLSearchParams(query).toString()}`
  const response = await fetch(address, { signal }).catch((cause: unknown) => {
    throw new Error('The weather service cannot be reached.', { cause })
  })
  if (!response.ok) throw new Error(`The weather service responded with ${response.status}.`)
  const body: unknown = await response.json().catch(() => undefined)
  const answer = shape.safeParse(body)
  if (answer.success) return answer.data
  throw new Error('The weather service sent a response that cannot be read.', {
    cause: answer.error,
  })
}

/** Open-Meteo has its places on a host of their own. */
const placesOf = (url: string): string =>
  new URL(url).host === 'api.open-meteo.com' ? 'https://geocoding-api.open-meteo.com' : url

const dayOf = (date: string): string =>
  new Intl.DateTimeFormat('en-GB', { weekday: 'long', timeZone: 'UTC' }).format(new Date(date))
