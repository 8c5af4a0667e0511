import { tool, type Tool } from 'ai'
import { z } from 'zod'
import { readLiveWeather, type WeatherService } from './live-weather.ts'

/** In place of the demo's own tool: same name, same payload, and it says where its data is from. */
export const createWeatherTool = (service: WeatherService): Tool =>
  tool({
    description: 'The weather in a city, as it is now, and for the next days.',
    inputSchema: z.object({ city: z.string().min(1) }),
    execute: async ({ city }, { abortSignal }) => ({
      version: '1',
      ...(await readLiveWeather(city, service, abortSignal)),
    }),
  })

/** HOLDFAST_WEATHER_URL, and HOLDFAST_WEATHER_PLACES_URL where places have an address of their own. */
export function readWeatherService(
  env: Readonly<Record<string, string | undefined>>,
): WeatherService | undefined {
  const url = env['HOLDFAST_WEATHER_URL']
  if (url === undefined || url === '') return undefined
  if (!URL.canParse(url)) throw new Error(`HOLDFAST_WEATHER_URL is not an address: ${url}`)
  return { url, placesUrl: env['HOLDFAST_WEATHER_PLACES_URL'] }
}
