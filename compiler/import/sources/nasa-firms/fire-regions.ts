import { regionBox as box, type RegionBox } from '../../region-box.ts';

/** Our boxes of the line's entities; no agency publishes them. Neighbours overlap. */
export const FIRE_BOXES: Readonly<Record<string, RegionBox>> = {
  'us-california': box([32.5, 42], [-124.5, -114]),
  'us-pacific-northwest': box([42, 49], [-124.8, -116.5]),
  'us-southwest': box([31.3, 37.1], [-114.8, -103]),
  'us-rockies': box([37, 49], [-116.5, -102]),
  'canada-bc': box([48.3, 60], [-139, -114]),
  'canada-alberta': box([49, 60], [-120, -110]),
  'au-nsw': box([-37.6, -28.1], [140.9, 153.7]),
  'au-victoria': box([-39.2, -34], [140.9, 150]),
  'med-greece': box([34.7, 41.8], [19.3, 28.3]),
  iberia: box([36, 43.8], [-9.6, 3.4]),
  'amazon-brazil': box([-16, 5.3], [-74, -44]),
  'siberia-russia': box([50, 73], [60, 140]),
};
