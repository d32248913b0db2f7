// Made by pimcp from the tools of "weather". Do not edit; run `pimcp compile`.
/* eslint-disable */

import { type CallOptions, client, type ToolResult } from "pimcp/codegen/v1";

export interface GetForecastInput {
  /** (integer, >= 1, <= 14, default 3) */
  days?: number;
  /** City name */
  location: string;
}

export interface GetForecastOutput {
  summary?: string;
  temperature: number;
}

export interface ListWarningsInput {
  [k: string]: unknown;
}

/** Forecasts and warnings */
export interface Weather {
  /**
   * Forecast
   *
   * Get the forecast for a city.
   */
  getForecast(args: GetForecastInput, options?: CallOptions): Promise<ToolResult<GetForecastOutput>>;

  /** All current warnings. */
  listWarnings(args?: ListWarningsInput, options?: CallOptions): Promise<ToolResult<unknown>>;
}

export const weather: Weather = /* @__PURE__ */ client<Weather>(import.meta.url, "weather", {
  getForecast: "get_forecast",
  listWarnings: "list_warnings",
});
