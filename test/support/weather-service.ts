import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A service that answers as Open-Meteo does, on this machine, and can be told to fail. */
export interface WeatherServer {
  readonly url: string
  /** The paths and queries that it was asked for. */
  readonly asked: readonly URL[]
  close(): Promise<void>
}

export type Trouble = 'error' | 'silence' | 'nonsense' | 'half'

const paris = {
  latitude: 48.85,
  longitude: 2.35,
  current: {
    time: '2026-03-02T12:00',
    temperature_2m: 11.4,
    apparent_temperature: 9.8,
    relative_humidity_2m: 71,
    wind_speed_10m: 14.3,
    weather_code: 61,
  },
  daily: {
    time: ['2026-03-02', '2026-03-03'],
    weather_code: [61, 0],
    temperature_2m_max: [12.1, 14.9],
    temperature_2m_min: [6.2, 5],
  },
}

export async function startWeatherServer(trouble?: Trouble): Promise<WeatherServer> {
  const asked: URL[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    asked.push(url)
    if (trouble === undefined || url.pathname === '/v1/search') answer(url, response)
    else fail(trouble, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked, close: () => closeServer(server) }
}

function answer({ pathname, searchParams }: URL, response: ServerResponse): void {
  const isKnown = searchParams.get('name')?.toLowerCase() === 'paris'
  const place = { id: 1, name: 'Paris', latitude: 48.85, longitude: 2.35, country: 'France' }
  if (pathname === '/v1/search') send(response, 200, isKnown ? { results: [place] } : { ms: 0.4 })
  else if (pathname === '/v1/forecast') send(response, 200, paris)
  else send(response, 404, { error: true, reason: 'Not found' })
}

function fail(trouble: Trouble, response: ServerResponse): void {
  if (trouble === 'error') send(response, 503, { error: true, reason: 'Overloaded' })
  if (trouble === 'nonsense') response.end('<html>Welcome to the hotel’s network</html>')
  if (trouble === 'half') send(response, 200, { current: { temperature_2m: 11 } })
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
