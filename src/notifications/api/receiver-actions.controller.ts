import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { etagOf, idempotencyKeyOf, ReasonDto } from '../../platform/http';
import { Allow, type Caller, TheCaller } from '../../staff';
import { RotateSecretDto } from './receiver-body.dto';
import { ReceiverDesk } from './receiver-desk';
import { ReceiverTest } from './receiver-test';
import type { ReceiverDto, ReceiverTestDto, RotatedSecretDto } from './receiver.dto';
import { ReceiverViews } from './receiver-views';
import { EnableWebhook, RotateWebhookSecret, TestReceiver, UnmaskReceiver } from './receivers.openapi';
import { WebhookDesk } from './webhook-desk';

@ApiTags('notifications')
@Controller('v1/notification-receivers')
export class ReceiverActionsController {
  constructor(
    private readonly views: ReceiverViews,
    private readonly desk: ReceiverDesk,
    private readonly webhooks: WebhookDesk,
    private readonly tests: ReceiverTest,
  ) {}

  @Post(':id/webhook-secret')
  @HttpCode(200)
  @Allow('admin', 'notifications')
  @RotateWebhookSecret()
  async rotate(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { oldValidForHours }: RotateSecretDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RotatedSecretDto> {
    void reply.header('cache-control', 'no-store');
    return this.webhooks.rotate(id, oldValidForHours, by);
  }

  @Post(':id/webhook-enabling')
  @HttpCode(200)
  @Allow('operator', 'notifications')
  @EnableWebhook()
  async enable(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReceiverDto> {
    await this.webhooks.enable(id, reason, by);
    const receiver = await this.views.of(id, by);
    void reply.header('etag', etagOf(receiver.version));
    return receiver;
  }

  @Post(':id/test')
  @HttpCode(202)
  @Allow('operator', 'notifications')
  @TestReceiver()
  test(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Headers('idempotency-key') key: string | undefined,
  ): Promise<ReceiverTestDto> {
    return this.tests.run(id, idempotencyKeyOf(key), by);
  }

  @Post(':id/unmasking')
  @HttpCode(200)
  @Allow('support', 'notifications')
  @UnmaskReceiver()
  async unmask(
    @TheCaller() by: Caller,
    @Param('id') id: string,
    @Body() { reason }: ReasonDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReceiverDto> {
    const receiver = await this.desk.unmask(id, reason, by);
    void reply.header('etag', etagOf(receiver.version)).header('cache-control', 'no-store');
    return receiver;
  }
}
