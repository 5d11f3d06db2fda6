import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Matches, ValidateBy, ValidateIf } from 'class-validator';
import { isMask, mask, type OrderContact, orderRequest } from '../contracts';
import type { Order } from './domain/order';

/** Text that a database, a log and a partner can carry, on one line. A mask is what somebody was shown in place of it, and says nothing. */
const ContactText = (most: number): PropertyDecorator =>
  applyDecorators(
    Matches(new RegExp(`^(?=.*\\S)[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${most}}$`, 'u'), {
      message: `must be text of 1 to ${most} printable characters, not blank`,
    }),
    ValidateBy({
      name: 'isNoMask',
      validator: {
        validate: (value) => typeof value !== 'string' || !isMask(value),
        defaultMessage: () => 'must be the value, not its mask',
      },
    }),
  );

/** Whom the partner asks about an order. Personal data: answers show masks. */
export class OrderContactDto implements OrderContact {
  @ApiProperty({ minLength: 1, maxLength: 100, example: 'Kim Doe' })
  @ContactText(100)
  name: string;

  @ApiPropertyOptional({ minLength: 1, maxLength: 254, example: 'purchasing@parley.example' })
  @ValidateIf((body: OrderContactDto) => body.email !== undefined)
  @ContactText(254)
  email?: string;

  @ApiPropertyOptional({ minLength: 1, maxLength: 40, example: '+49 30 5550100' })
  @ValidateIf((body: OrderContactDto) => body.phone !== undefined)
  @ContactText(40)
  phone?: string;
}

export const contactOf = ({ name, email, phone }: OrderContact): OrderContact => ({
  name,
  ...(email !== undefined && { email }),
  ...(phone !== undefined && { phone }),
});

/** As the contract of the order's document masks it. */
export function shownContact({ contact }: Pick<Order, 'contact'>): OrderContact | null {
  return contact && (mask(orderRequest, { contact }).document as { contact: OrderContact }).contact;
}
