import { Countdown } from '../countdown.js';
import { Listeners } from '../listeners.js';
import type { Clock, SchedulerSettings } from '../store.js';
import type { CallRecord, HeldLease } from './call-record.js';
import { forget, leaseEnded, placeEnded, reservationLapsed } from './expiry.js';
import type { KeptPlace, WorkerRecord } from './worker-record.js';

/** All that a memory store knows, and its four kinds of time. */
export class Memory {
  readonly clock: Clock;
  readonly settings: SchedulerSettings;
  readonly workers = new Map<string, WorkerRecord>();
  readonly calls = new Map<string, CallRecord>();
  readonly callListeners = new Listeners();
  readonly workerListeners = new Listeners();

  readonly reservations: Countdown<CallRecord>;
  readonly leases: Countdown<HeldLease>;
  readonly places: Countdown<KeptPlace>;
  readonly ended: Countdown<CallRecord>;

  constructor(clock: Clock, settings: SchedulerSettings) {
    this.clock = clock;
    this.settings = settings;
    this.reservations = new Countdown(clock, settings.fetchWithinMs, (record) => {
      reservationLapsed(this, record);
    });
    this.leases = new Countdown(clock, settings.leaseTtlMs, (lease) => {
      leaseEnded(this, lease);
    });
    this.places = new Countdown(clock, settings.placeKeptMs, (place) => {
      placeEnded(this, place);
    });
    this.ended = new Countdown(clock, settings.endRememberedMs, (record) => {
      forget(this, record);
    });
  }

  close(): void {
    for (const countdown of [this.reservations, this.leases, this.places, this.ended]) countdown.close();
    this.callListeners.close();
    this.workerListeners.close();
  }
}
