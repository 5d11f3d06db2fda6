import { Body, Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { etagOf } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { idOf, sendValue } from './dead-letters.controller';
import { ReasonDto } from './dead-letters.dto';
import { UnmaskDeadLetter, UnmaskDeadLetterValue } from './dead-letters.openapi';
import type { DeadLetterViewDto } from './letter-view.dto';
import { Unmasking } from './unmasking';

@ApiTags('failures')
@Controller('v1/dead-letters')
export class UnmaskingController {
  constructor(private readonly unmasking: Unmasking) {}

  @Post(':id/unmasking')
  @HttpCode(200)
  @Allow('support', 'failures')
  @UnmaskDeadLetter()
  async letter(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DeadLetterViewDto> {
    const { letter, view } = await this.unmasking.letter(idOf(id), reason, by);
    void reply.header('etag', etagOf(letter.version)).header('cache-control', 'no-store');
    return view;
  }

  @Post(':id/value/unmasking')
  @HttpCode(200)
  @Allow('support', 'failures')
  @UnmaskDeadLetterValue()
  async value(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    void reply.header('cache-control', 'no-store');
    sendValue(reply, id, await this.unmasking.value(idOf(id), reason, by));
  }
}
