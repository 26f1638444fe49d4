export type { AdvertisedLanes } from './lane-locator.js';
export type { RoutableRequest, Routing, UnroutedReason } from './to-lane-request.js';
export { toLaneRequest } from './to-lane-request.js';
export { fromLaneResult } from './from-lane-result.js';
