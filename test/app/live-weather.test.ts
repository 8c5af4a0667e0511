import { describe, expect, it, onTestFinished } from 'vitest'
import { readLiveWeather } from '../../app/live-weather.ts'
import { readWeatherService } from '../../app/weather-tool.ts'
import { startWeatherServer, type Trouble } from '../support/weather-service.ts'

async function open(trouble?: Trouble) {
  const service = await startWeatherServer(trouble)
  onTestFinished(() => service.close())
  return service
}

describe('live weather', () => {
  it('is what the service says, in the words of the card, with its source', async () => {
    const { url, asked } = await open()
    expect(await readLiveWeather('paris', { url })).toEqual({
      city: 'Paris',
      temperatureC: 11.4,
      feelsLikeC: 9.8,
      condition: 'Rain',
      humidityPercent: 71,
      windKph: 14.3,
      forecast: [
        { day: 'Monday', highC: 12.1, lowC: 6.2, condition: 'Rain' },
        { day: 'Tuesday', highC: 14.9, lowC: 5, condition: 'Clear' },
      ],
      source: `live, from ${new URL(url).host}`,
    })
    expect(asked.map(({ pathname }) => pathname)).toEqual(['/v1/search', '/v1/forecast'])
    expect(asked[1]?.searchParams.get('latitude')).toBe('48.85')
  })

  it('requests places from the configured address', async () => {
    const [weather, places] = [await open(), await open()]
    await readLiveWeather('Paris', { url: `${weather.url}/`, placesUrl: places.url })
    expect(weather.asked.map(({ pathname }) => pathname)).toEqual(['/v1/forecast'])
    expect(places.asked.map(({ pathname }) => pathname)).toEqual(['/v1/search'])
  })

  it.each([
    ['error', 'The weather service responded with 503.'],
    ['nonsense', 'The weather service sent a response that cannot be read.'],
    ['half', 'The weather service sent a response that cannot be read.'],
  ] as const)('fails and makes nothing up: %s', async (trouble, message) => {
    const { url } = await open(trouble)
    await expect(readLiveWeather('Paris', { url })).rejects.toThrow(message)
  })

  it('says that a place is not known, and that nobody is there', async () => {
    const service = await open()
    const { url } = service
    const unknown = 'The weather service has no place “Atlantis”.'
    await expect(readLiveWeather('Atlantis', { url })).rejects.toThrow(unknown)
    await service.close()
    const away = 'The weather service cannot be reached.'
    await expect(readLiveWeather('Paris', { url })).rejects.toThrow(away)
  })

  it('does not wait for ever', async () => {
    const { url } = await open('silence')
    const message = 'The weather service did not respond within 0.05 seconds.'
    await expect(readLiveWeather('Paris', { url, timeoutMs: 50 })).rejects.toThrow(message)
  })

  it('[ST1] leaves when the turn is stopped, and calls that no failure of the service', async () => {
    const { url } = await open('silence')
    const stop = new AbortController()
    const reading = readLiveWeather('Paris', { url }, stop.signal)
    stop.abort(new Error('Stopped by a person.'))
    await expect(reading).rejects.toThrow('Stopped by a person.')
  })

  it('is on only when an address is given, which must be one', () => {
    expect(readWeatherService({})).toBeUndefined()
    expect(readWeatherService({ HOLDFAST_WEATHER_URL: '' })).toBeUndefined()
    expect(readWeatherService({ HOLDFAST_WEATHER_URL: 'http://w' })).toEqual({ url: 'http://w' })
    expect(() => readWeatherService({ HOLDFAST_WEATHER_URL: 'yes' })).toThrow('not an address')
  })
})
