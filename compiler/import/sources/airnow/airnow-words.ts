/** Members that are read, by the two spellings of the service. */
export const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['DateObserved', 'date'],
  ['dateObserved', 'date'],
  ['HourObserved', 'hour'],
  ['hourObserved', 'hour'],
  ['LocalTimeZone', 'zone'],
  ['localTimeZone', 'zone'],
  ['ReportingArea', 'area'],
  ['reportingAreaName', 'area'],
  ['ParameterName', 'pollutant'],
  ['parameterName', 'pollutant'],
  ['AQI', 'aqi'],
  ['nowcastAQI', 'aqi'],
  ['Latitude', 'latitude'],
  ['Longitude', 'longitude'],
]);
/** Pollutants by their names in upper case; ozone has two. */
export const POLLUTANTS: ReadonlyMap<string, string> = new Map([
  ['O3', 'O3'],
  ['OZONE', 'O3'],
  ['PM2.5', 'PM2.5'],
  ['PM10', 'PM10'],
  ['NO2', 'NO2'],
  ['SO2', 'SO2'],
  ['CO', 'CO'],
]);
